import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Ports that systems do not choose themselves, for outgoing connections or for servers that ask for any port: Linux chooses
 * from 32768 (`net.ipv4.ip_local_port_range`), others from 49152 (RFC 6335, section 6).
 */
const FIRST = 10_240
const LAST = 32_767

const TRIES = 1000

/**
 * Returns a port of 127.0.0.1 that neither TCP nor UDP uses. It stays free until the test uses it: the tests that run at
 * the same time get other ones.
 * @throws Error when no port is found.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1)
    if (!returned.has(port) && (await isFree(port))) {
      returned.add(port)
      return port
    }
  }
  throw new Error(`No port from ${FIRST} to ${LAST} of 127.0.0.1 is free.`)
}

/** By this process: most of the tests that run at the same time are its own. */
const returned = new Set<number>()

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  if (!(await listens(server, () => server.listen(port, '127.0.0.1')))) return false
  const socket = createSocket('udp4')
  return listens(socket, () => socket.bind(port, '127.0.0.1'))
}

/** Returns whether it can listen; afterwards it is closed. */
async function listens(at: Server | Socket, start: () => void): Promise<boolean> {
  const listening = once(at, 'listening')
  start()
  try {
    await listening
  } catch {
    return false
  }
  await once(at.close(), 'close')
  return true
}
