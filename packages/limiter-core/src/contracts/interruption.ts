/** State change of a connection: `lost`, counts may be lost; `back`, the backend can be called again. */
export type Interruption = 'lost' | 'back'
