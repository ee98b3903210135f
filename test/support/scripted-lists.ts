import { type Behaviour, rcodes, soa } from './dns-server.ts'

/** What names resolve to, whole: `7.113.0.203.zen.spamhaus.org` to a code, `mail.example.com` to addresses. */
export type Records = Readonly<Record<string, readonly string[]>>

/**
 * The behaviour of a DNS in which all eight lists are well and hold only their test entries and `records`; TXT records
 * are not there. For tests in which the lists are not the point, or have to change on the way.
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
