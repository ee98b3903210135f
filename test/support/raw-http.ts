import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Sends these bytes over a new connection. Returns everything received until the server closes it. */
export async function sendRaw(url: string, text: string): Promise<string> {
  const socket = await connected(url)
  let received = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part
  })
  socket.on('error', () => undefined)
  socket.write(text)
  await once(socket, 'close')
  return received
}

/** A plain connection to the server of a URL; half open: it stays open after the server has ended its side. */
export async function connected(url: string, allowHalfOpen = false): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname
  const socket = connect({ port: Number(port), host, allowHalfOpen })
  await once(socket, 'connect')
  return socket
}
