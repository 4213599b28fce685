"""Why a policy says what it says: on average, and to one person."""
