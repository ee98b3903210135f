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
 * Returns a port of 127.0.0.1 that neither TCP nor UDP uses. It stays free until the test uses it, unless
 * another test process draws the same of these 22,528 ports in that moment.
 * @throws Error when no port is found.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1)
    if (tried.has(port)) continue
    tried.add(port)
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${FIRST} to ${LAST} of 127.0.0.1 is free.`)
}

/** The ports that this process has returned, or found in use. */
const tried = new Set<number>()

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  if (!(await listens(server, () => server.listen(port, '127.0.0.1')))) return false
  const socket = createSocket('udp4')
  return listens(socket, () => socket.bind(port, '127.0.0.1'))
}

/** Returns whether it can listen; afterwards it is closed. */
async function listens(at: Server | Socket, start: () => void): Promise<boolean> {
  try {
    const listening = once(at, 'listening')
    start()
    await listening
    return true
  } catch {
    return false
  } finally {
    const closed = once(at, 'close')
    at.close()
    await closed
  }
}
