// Names of the contenders in server/contenders.mjs.

export const peers = ['@fastify/under-pressure', 'overload-protection', 'toobusy-js']
/** Known algorithms behind the adapter of Sluice. */
export const published = ['gradient', 'vegas', 'aimd']
export const sluice = ['sluice', 'sluice, queue']
/** For servers whose own work occupies the event loop. */
export const shedding = 'sluice, shed'
