/** Work that stays in progress until a test finishes it. */
export interface Gate {
  open(): Promise<void>
}
