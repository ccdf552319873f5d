/** Importance of work. Under overload, the least important work is refused first. */
export type Priority = 'critical' | 'high' | 'normal' | 'low' | 'sheddable'
