import { createHash } from 'node:crypto'

/** The namespace of the UUIDs that are derived from our ids. */
const namespace = Buffer.from('6f0d1c6e5b7a4d2f9a3e8c41b2d7e590', 'hex')

/** Returns the UUID for an id of ours: the same one on every server (RFC 9562 §5.5, version 5). */
export function uuidOf(id: string): string {
  const bytes = createHash('sha1').update(namespace).update(id).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns the UUID as a permanent URI. */
export function urnOf(id: string): string {
  return `urn:uuid:${uuidOf(id)}`
}
