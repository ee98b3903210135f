import { createHash } from 'node:crypto'

/** The namespace of UUIDs made of our ids. */
const namespace = Buffer.from('6f0d1c6e5b7a4d2f9a3e8c41b2d7e590', 'hex')

/** The UUID of a thing with an id of ours: always the same, wherever it is served (RFC 9562 §5.5, version 5). */
export function uuidOf(id: string): string {
  const bytes = createHash('sha1').update(namespace).update(id).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The same as a URI that never changes. */
export function urnOf(id: string): string {
  return `urn:uuid:${uuidOf(id)}`
}
