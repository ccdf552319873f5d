// indexes of the numbers that `take` of a policy writes
export const WAIT = 0
export const REMAINING = 1
export const RESET_AFTER = 2
export const AVAILABLE_AFTER = 3

/** Number of these numbers. */
export const NUMBERS = 4
