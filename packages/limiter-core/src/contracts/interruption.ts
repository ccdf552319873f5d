/** What befell the way to a backend: `lost`, and what it counted may be gone; `back`, and it may be asked again. */
export type Interruption = 'lost' | 'back'
