"""Slack's modals: forms, all arguments, the Review modal, notices. Pure: a review and inputs → a view.

Public face: `edit_modal`, `answer_modal`, `arguments_modal`, `review_modal`, `small_modals`.
"""
