/** Asks a server twice, closes it, and returns the statuses. */
export async function statusesOf(server) {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  const statuses = await askedTwice(() => fetch(`http://127.0.0.1:${server.address().port}/`))
  await new Promise((resolve) => server.close(resolve))
  return statuses
}

/** Calls a function that returns a response twice, and returns the statuses. */
export async function askedTwice(ask) {
  const statuses = []
  for (let request = 0; request < 2; request++) {
    const response = await ask()
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  return statuses
}

/** Prints the statuses of apps, which are functions by name, as one line of JSON. */
export async function printStatuses(apps) {
  const printed = {}
  for (const [name, statuses] of Object.entries(apps)) printed[name] = await statuses()
  console.log(JSON.stringify(printed))
}
