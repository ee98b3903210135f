import ipaddr from 'ipaddr.js'

/** The values that a record may contain here: text, unsigned 32-bit numbers, and maps of them. */
export type MmdbValue = string | number | { readonly [key: string]: MmdbValue }

/**
 * A database by the MaxMind DB file format 2.0 (https://maxmind.github.io/MaxMind-DB), with 24-bit records.
 * `networks` are pairs of a CIDR range and its record; in an IPv6 database, IPv4 ranges lie in ::/96 as MaxMind has it.
 */
export function mmdb(ipVersion: 4 | 6, networks: readonly (readonly [cidr: string, record: MmdbValue])[]): Buffer {
  const records = networks.map(([, record]) => encode(record))
  const nodes: Node[] = [[null, null]]
  let offset = 0
  for (const [index, [cidr]] of networks.entries()) {
    plant(nodes, bits(cidr, ipVersion), { offset })
    offset += records[index]?.length ?? 0
  }
  const tree = Buffer.alloc(nodes.length * 6)
  for (const [index, branch] of nodes.flat().entries()) tree.writeUIntBE(pointer(branch, nodes.length), index * 3, 3)
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
    database_type: 'Test',
    ip_version: ipVersion,
    node_count: nodes.length,
    record_size: 24,
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...records, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata])
}

/** The targets of a bit of 0 and of 1: nothing, another node, or a record in the data section. */
type Branch = null | number | { readonly offset: number }
type Node = [zero: Branch, one: Branch]

function plant(nodes: Node[], path: readonly (0 | 1)[], leaf: Branch): void {
  let node = nodes[0]
  for (const [depth, bit] of path.entries()) {
    if (node === undefined) throw new Error('a range lies inside another one')
    if (depth === path.length - 1) node[bit] = leaf
    else node[bit] ??= nodes.push([null, null]) - 1
    node = nodes[Number(node[bit])]
  }
}

function pointer(branch: Branch, nodeCount: number): number {
  if (branch === null) return nodeCount
  return typeof branch === 'number' ? branch : nodeCount + 16 + branch.offset
}

function bits(cidr: string, ipVersion: 4 | 6): (0 | 1)[] {
  const [address, prefix] = ipaddr.parseCIDR(cidr)
  const bytes = address.toByteArray()
  const padding = ipVersion === 6 && bytes.length === 4 ? 96 : 0
  const all = bytes.flatMap((byte) =>
    Array.from({ length: 8 }, (_, index): 0 | 1 => ((byte >> (7 - index)) & 1 ? 1 : 0)),
  )
  return [...new Array<0>(padding).fill(0), ...all.slice(0, prefix)]
}

/** Type numbers: 2 text, 6 number, 7 map. A length of 29 or more is 29 and a byte with the rest (284 at most). */
function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    const size = text.length < 29 ? [text.length] : [29, text.length - 29]
    return Buffer.concat([Buffer.of((2 << 5) | (size[0] ?? 0), ...size.slice(1)), text])
  }
  if (typeof value === 'number') {
    const number = Buffer.alloc(5)
    number.writeUInt8((6 << 5) | 4)
    number.writeUInt32BE(value, 1)
    return number
  }
  const members = Object.entries(value)
  const encoded = members.flatMap(([key, member]) => [encode(key), encode(member)])
  return Buffer.concat([Buffer.of((7 << 5) | members.length), ...encoded])
}
