"""Plans a form: which fields a schema and some arguments need. Start with `build.make_form`."""
