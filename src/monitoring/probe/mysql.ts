import { z } from 'zod'
import { oneLine } from '../probe-result.ts'
import { type Conversation, Trouble } from './conversation.ts'
import { serverOptions, serverProbe, serverWords } from './server-probe.ts'

/** The largest packet that is read, in bytes. */
const MAX_PACKET = 4096

/** Long passwords, the protocol since 4.1, authentication by plugins. */
const CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000

/** The codes that refuse a user, not a connection: the server works. */
const DENIED = new Set([1044, 1045, 1698])

const user = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,80}$/, 'must have 1 to 80 characters without spaces')

/**
 * Greets a server (protocol version 10) as a user without a password. A connection that ends before that would count
 * against `max_connect_errors`, and block this host after a hundred probes; one that is refused does not.
 */
export const mysql = serverProbe({
  kind: 'MYSQL',
  options: z.strictObject({ ...serverOptions(3306), user: user.default('allclear') }),
  words: {
    name: 'MySQL, MariaDB',
    about: 'Greets a MySQL or MariaDB server; does not sign in with a password.',
    options: {
      ...serverWords,
      user: {
        label: 'User',
        description: 'Whose name it gives, without a password; it need not exist.',
        hint: 'Given without a password; it need not exist.',
        isRare: true,
      },
    },
  },
  async talk(server, { user: name }) {
    const greeting = await packet(server)
    const end = greeting.data.indexOf(0, 1)
    if (greeting.data[0] !== 10 || end < 2) throw new Trouble('The server does not speak the protocol of MySQL')
    // MariaDB before 11 says that it is an old MySQL first.
    const version = `Version ${greeting.data.toString('latin1', 1, end).replace(/^5\.5\.5-/, '')}`
    server.send(framed(response(name), greeting.number + 1))
    let answer = await packet(server)
    // It asks for another way to sign in: nothing is given there either.
    if (answer.data[0] === 0xfe) {
      server.send(framed(Buffer.alloc(0), answer.number + 1))
      answer = await packet(server)
    }
    if (answer.data[0] === 0) server.send(framed(Buffer.from([1]), 0))
    return version
  },
})

/** Reads a packet, and its number. @throws Trouble when it is an error other than that the user is denied. */
async function packet(server: Conversation): Promise<{ readonly data: Buffer; readonly number: number }> {
  const head = await server.bytes(4)
  const length = head.readUIntLE(0, 3)
  const number = head.readUInt8(3)
  if (length < 1 || length > MAX_PACKET || number > 9)
    throw new Trouble('The server does not speak the protocol of MySQL')
  const data = await server.bytes(length)
  if (data[0] !== 0xff) return { data, number }
  if (length < 3 || DENIED.has(data.readUInt16LE(1))) return { data, number }
  throw new Trouble(`The server refuses: ${oneLine(data.toString('utf8', 3).replace(/^#[A-Z0-9]{5}/, ''), 200)}`)
}

function response(name: string): Buffer {
  const head = Buffer.alloc(32)
  head.writeUInt32LE(CAPABILITIES, 0)
  head.writeUInt32LE(MAX_PACKET, 4)
  head.writeUInt8(45, 8)
  return Buffer.concat([head, Buffer.from(`${name}\0\0mysql_native_password\0`)])
}

function framed(data: Buffer, number: number): Buffer {
  const head = Buffer.alloc(4)
  head.writeUIntLE(data.length, 0, 3)
  head.writeUInt8(number, 3)
  return Buffer.concat([head, data])
}
