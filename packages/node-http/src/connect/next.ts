/** Goes on with what follows a limiter, or hands an error to the framework. */
export type Next = (error?: unknown) => void
