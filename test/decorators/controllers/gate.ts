/** Work that is in progress until a test lets it end. */
export interface Gate {
  open(): Promise<void>
}
