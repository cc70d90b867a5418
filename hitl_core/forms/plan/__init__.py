"""Plans a form: which fields a schema and some arguments need. Start with `plan_form`."""

from hitl_core.forms.plan.branch_field import read_branch_choice
from hitl_core.forms.plan.build import Plan, plan_form
from hitl_core.forms.plan.prefill import prefill_field

__all__ = ["Plan", "plan_form", "prefill_field", "read_branch_choice"]
