/** The tick of the servers that these tests start. */
export const TICK_MS = 500;
/** S, where a test does not ask for another: the most that is granted, as nothing may expire on a busy machine. */
export const LONG_SESSION_MS = 20 * TICK_MS;
/** S, where a test is about its end: the servers' last word of it plus a stall of two seconds must not be that. */
export const SESSION_MS = 3_000;
/** The least that is granted: for sessions that only have to end. */
export const SHORTEST_SESSION_MS = 2 * TICK_MS;
/** How late a thing may come on a busy machine. */
export const SLACK_MS = 1_000;
