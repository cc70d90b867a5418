"""Plans a form: which fields a schema and some arguments need. Start with `plan_form`."""

from hitl_core.forms.plan.build import make_form, plan_form

__all__ = ["make_form", "plan_form"]
