import type { Answer, TxtData } from 'dns-packet'

/**
 * Returns the data of a record as text: an address in canonical form, the joined strings of a TXT record, or zone file
 * format with names without a final dot: `10 mail.example.com`.
 * @throws TypeError for unsupported types.
 */
export function textOf(record: Answer): string {
  switch (record.type) {
    case 'A':
      return record.data
    case 'AAAA':
      // The URL Standard's serializer writes the form of RFC 5952.
      return new URL(`http://[${record.data}]`).hostname.slice(1, -1)
    case 'TXT':
      return stringsText(record.data)
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return nameText(record.data)
    case 'MX':
      return `${record.data.preference} ${nameText(record.data.exchange)}`
    case 'SRV': {
      const { priority, weight, port, target } = record.data
      return `${priority} ${weight} ${port} ${nameText(target)}`
    }
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data
      return [nameText(mname), nameText(rname), serial, refresh, retry, expire, minimum].join(' ')
    }
    case 'CAA':
      return `${record.data.flags} ${record.data.tag} "${record.data.value}"`
    default:
      throw new TypeError(`Records of type ${record.type} have no text form`)
  }
}

/** Returns a name as text. The name of the root is empty. */
function nameText(name: string): string {
  return name === '.' ? '' : name
}

/** Joins the strings of a TXT record before decoding: a UTF-8 character may start in one string and end in the next. */
function stringsText(data: TxtData): string {
  const strings = Array.isArray(data) ? data : [data]
  return Buffer.concat(strings.map((string) => Buffer.from(string))).toString('utf8')
}
