// What happened to a request.

/** Answered with 2xx. */
export const SUCCESS = 1
/** Answered with 429 or 503. */
export const REFUSED = 2
/** The client stopped waiting. */
export const GAVE_UP = 3
/** Another status, or a broken connection. */
export const OTHER = 4
