/**
 * Encodes a positive integer in groups of seven bits, lowest first; the eighth bit is set if more bytes follow. Protocol
 * Buffers (varint), MQTT 3.1.1 (§2.2.3) and HPACK (RFC 7541 §5.1) write lengths this way.
 */
export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]
}
