"""What people do in Slack → calls to the inbox → answers: buttons, modals, App Home, commands, events.

Public face: `listeners.Listeners`, `home.HomeTab` and `events.Events`, each with a `register(app)` for Bolt.
"""
