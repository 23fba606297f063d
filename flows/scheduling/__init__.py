"""Runs at set times: schedules, their runner, and the server that keeps them."""
