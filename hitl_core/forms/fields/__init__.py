"""The inputs of a form, one file for each kind. Start with `input_fields.choose_input` and
`answer.parse_answer`.
"""
