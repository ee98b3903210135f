import { type Behaviour, rcodes, soa } from './dns-server.ts'

/** Answers by full name: codes of `7.113.0.203.zen.spamhaus.org`, addresses of `mail.example.com`. */
export type Records = Readonly<Record<string, readonly string[]>>

/**
 * The behaviour of a DNS in which all eight lists are healthy and contain only their test entries and `records`,
 * without TXT records. For tests that are not about lists, or that change them later.
 */
export function scriptedLists(records: Records = {}): Behaviour {
  return ({ name, type }) => {
    const wanted = type === 'A' || type === 'AAAA' ? (records[name] ?? testEntry(name)) : []
    const family = wanted.filter((value) => value.includes(':') === (type === 'AAAA'))
    if (family.length > 0)
      return { answers: family.map((data) => ({ name, type: type as 'A' | 'AAAA', ttl: 300, data })) }
    return { rcode: wanted.length > 0 ? 0 : rcodes.nxdomain, authorities: [soa(name, 300, 300)] }
  }
}

function testEntry(name: string): readonly string[] {
  if (!name.startsWith('2.0.0.127.')) return []
  return [name.endsWith('.multi.surbl.org') ? '127.0.0.254' : '127.0.0.2']
}
