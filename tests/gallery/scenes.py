"""All scenes of the gallery."""

from __future__ import annotations

from tests.gallery import digests, forms, homes, settled, styles, unseen, voices, waiting
from tests.gallery.showing import Scene

SCENES: tuple[Scene, ...] = (
    *waiting.SCENES,
    *digests.SCENES,
    *voices.SCENES,
    *unseen.SCENES,
    *styles.SCENES,
    *settled.SCENES,
    *forms.SCENES,
    *homes.SCENES,
)
