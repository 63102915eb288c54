/* The session, and what it lost. */
#include "agent.h"
#include "state_counts.h"

sa_state sa;
sa_losses_of_session sa_losses;
sa_uncounted sa_nowhere;
