# ruff: noqa: RUF001
"""Normal text of any language has no warning."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.card.model.spans import Quote
from bot.card.warnings import NamedValue, find_text, find_warnings, is_plain
from hitl_core.model.arguments import encode

SENTENCES = {
    "Russian": "Здравствуйте, Анна! Встреча в 10:30, дом 5А, кв. 12; стоимость 1500 руб. — т. е. с НДС. "
    "Отправьте IT-отделу файл отчёт_v2.docx и напишите на vk.com.",
    "Ukrainian": "Доброго дня! Її рахунок №5 оплачено 12.05.2024, а решту — ні.",
    "Greek": "Επισκεφθείτε μας αύριο στις 5 το απόγευμα· το ποσό είναι 12,50 €. Ο γάτος και η γάτα.",
    "Chinese": "我们使用Python，Java和Go。时间是9：30，共1，2，3项（约５０％）。请联系wang@example.com！",
    "Japanese": "東京都千代田区１−２−３　ＡＢＣ株式会社のカフェ・オ・レは、５００円です。",
    "Korean": "안녕하세요, Samsung입니다. 회의는 3월 5일 10:30에 있습니다.",
    "Arabic": "مرحبا، الاجتماع الساعة 10:30 يوم 12/05/2024 في القاعة ٥، والسعر ١٢٫٥٠ دولار.",
    "vocalised Arabic": "مُحَمَّدٌ رَسُولُ السَّلَامِ إِلَى كُلِّ النَّاسِ",
    "Persian": "سلام، می\u200cخواهم ۳ کتاب را فردا ساعت ۱۰ بفرستید.",
    "Hebrew": "שלום, הפגישה ב-12:30 עם Dana בחדר 5, וGoogle Meet פתוח. סה״כ: 1,250.00 ₪",
    "Hindi": "नमस्ते, बैठक १०:३० बजे है; क़लम और A४ काग़ज़ ज़रूरी हैं।",
    "Thai": "สวัสดีครับ ฉันใช้Pythonได้ดี ราคา 120 บาท",
    "German": "Grüße aus Köln: Straße 5, 12,50 € – „schön“, über 10 %.",
    "French": "Bonjour\u00a0! «\u00a0Ça va\u00a0?\u00a0» — 1\u202f250,00\u00a0€ à l’œuvre.",
    "Turkish": "Iğdır'da yağmur yağıyor, İstanbul'a 3 kişi gidiyor.",
    "Vietnamese": "Tiếng Việt rất đẹp, giá 120.000 ₫.",
    "Georgian": "გამარჯობა, შეხვედრა 10:30-ზეა.",
    "Armenian": "Բարեւ ձեզ, հանդիպումը ժամը 10-ին է։",
    "Polish": "Zażółć gęślą jaźń, Łódź 2024.",
    "formulas": "Δt = 5 µm, R = 2 kΩ, x ∈ ℝ, 2πr, α-helix, 10 m², ½ cup, №5, ①②③, 5 ℃, 5⁄8, 3 × 4",
    "emoji": "Done ✅ 🎉 👨\u200d👩\u200d👧 ❤\ufe0f",
    "typography": "It’s “quoted” – 10–20 … and so on • dots · dashes — ™ ©",
}
VALUES = [
    *(
        "Øyvind Ærø",
        "José Núñez",
        "Дмитрий",
        "Jürgen Groß",
        "Łukasz",
        "Nguyễn Văn Ánh",
        "山田 太郎",
    ),
    *("Тарас Шевченко", "Ελένη", "محمد علي", "רות כהן", "김철수", "Zoë", "Đặng", "O’Brien"),
    *("дмитрий@почта.рф", "info@münchen.de", "josé@example.com", "https://例え.jp/パス"),
    *(
        "https://ru.wikipedia.org/wiki/Россия",
        "用户@例子.广告",
        "अजय@डाटा.भारत",
        "θσερ@εχαμπλε.ψομ",
    ),
    *(
        "jo@example.com",
        "Jo <jo@example.com>",
        '"Smith, Jo" <jo@example.com>',
        "a@x.com, B <b@y.com>",
    ),
    *(
        '"jo@example.com" <jo@example.com>',
        "https://medium.com/@user/post",
        "git@github.com:a/b.git",
    ),
    *(
        "postgres://user:pass@db/x",
        "[docs](https://example.com)",
        "[README.md](https://example.com)",
    ),
    *("[https://example.com/a](https://www.example.com/b)", "SELECT a,\n       b\n  FROM   x\n"),
    *("отчёт_v2.docx", "Договор-final.pdf", "тест.docx", "अ", "А", "5 А", "x\n", "one.  Two"),
    *(
        "https://example.com.au/x",
        "https://bbc.co.uk",
        "http://10.0.0.1:80/",
        "https://a.b.example.com",
    ),
    *('"Booking.com" <noreply@mail.booking.com>', '"Node.js" <x@openjsf.org>', "Ph.D. <x@y.org>"),
    *("Jo (jo@x.com) and Anna (anna@y.com)", "jo@x.com, anna@y.com", "@user@mastodon.social"),
    *("JavaScript: the good parts", "the data: text, html", "// see jo@example.com", "pkg@1.2"),
    *("[example.com](https://www.example.com/a)", "[Node.js](https://nodejs.org)", "a//b@c"),
    *("https:\\/\\/example.com\\/x", '{"url":"https://a.b","mail":"x@y.z"}', "file:///C:/x"),
    *(
        "10 m², 5 km³.",
        "E = mc²",
        "1º y 2ª",
        "x₁ + x₂ = 10",
        "①②③ 4",
        "PART Ⅱ",
        "2𝛼x",
        "note¹, note².",
    ),
    *("дом 5З, кв. 12", "ÞórÞ", "sarı", "3×4, 5÷6", "500 g ℮", "a∣b", "10³ 10²", "H₂O", "CO₂, 5"),
    *('print("https://example.com\\n")', "100%a@b", "org.apache.commons.com.x"),
    *("2024-05-12T10:30:00Z", "C:\\temp\\x", "a/b/c", "--flag=1", "{'a': 1}", "<b>bold</b>", ""),
]


@pytest.mark.parametrize("language", SENTENCES)
def test_honest_sentences_have_no_warning(language: str) -> None:
    """Given sentences as people write them, alone and as a long text, then nothing is odd in them."""
    words = SENTENCES[language]

    assert find_text(words) == ()
    assert find_text("\n\n".join([words] * 200)) == ()


@pytest.mark.parametrize("words", VALUES, ids=ascii)
def test_honest_values_have_no_warning(words: str) -> None:
    assert find_text(words) == ()


SCRIPTS = {
    "LATIN": [range(0x41, 0x5B), range(0x61, 0x7B), range(0xC0, 0xD7), range(0xE0, 0xF7)],
    "CYRILLIC": [range(0x410, 0x450)],
    "GREEK": [range(0x3B1, 0x3CA), range(0x391, 0x3A2)],
    "HEBREW": [range(0x5D0, 0x5EB)],
    "ARABIC": [range(0x627, 0x63B), range(0x641, 0x64B)],
    "DEVANAGARI": [range(0x905, 0x93A)],
    "THAI": [range(0xE01, 0xE2F)],
    "HAN": [range(0x4E00, 0x4E2F), range(0x6000, 0x6200)],
    "HANGUL": [range(0xAC00, 0xAD00)],
    "KATAKANA": [range(0x30A2, 0x30CE)],
    "GEORGIAN": [range(0x10D0, 0x10F1)],
    "ARMENIAN": [range(0x561, 0x587)],
}
#: A letter that looks like no Latin one.
DISTINCT = {"CYRILLIC": "Ж", "GREEK": "Ω", "ARMENIAN": "ֆ"}


@pytest.mark.parametrize("script", SCRIPTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_text_of_one_script_with_plain_punctuation_has_no_warning(
    script: str, data: st.DataObject
) -> None:
    """Given words of one script, in which a reader sees a letter that only it has, then nothing is odd."""
    letters = [chr(code) for codes in SCRIPTS[script] for code in codes]
    word = st.text(st.sampled_from(letters), min_size=1, max_size=9)
    words = data.draw(st.lists(word, min_size=1, max_size=30))
    ends = data.draw(st.lists(st.sampled_from([" ", ", ", ". ", "! ", "? ", "; ", "\n"])))
    text = "".join(a + b for a, b in zip(words, ends + [" "] * len(words), strict=False)).strip()
    text = unicodedata.normalize("NFC", f"{text} {DISTINCT.get(script, letters[0])}")

    assert find_text(text) == ()


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.text("ab_ ", min_size=1), st.text("ab \\\"'@:/<>xn-.,[]()\n\t\r\x00") | st.integers()
    )
)
def test_what_is_plain_at_first_sight_has_no_warning(args: dict[str, str | int]) -> None:
    """Given ASCII arguments whose JSON needs no look, then a look finds nothing."""
    if is_plain(encode(args).data):
        assert find_warnings(NamedValue(Quote(k), v, k) for k, v in args.items()).lines == ()


def test_every_pair_of_sentences_has_no_warning() -> None:
    """Given a text with two languages, then nothing is odd in it either."""
    texts = list(SENTENCES.values())

    assert [pair for pair in pairwise(texts) if find_text("\n".join(pair))] == []
