/** Continues with the next handler, or passes an error to the framework. */
export type Next = (error?: unknown) => void
