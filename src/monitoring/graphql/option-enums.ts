import { describedValues } from '../../graphql/schema/descriptions.ts'
import type { RecordType } from '../../network/dns/message.ts'
import { builder } from './builder.ts'

export const HttpMethod = builder.enumType('HttpMethod', {
  description: 'An HTTP request method.',
  values: describedValues({
    DELETE: 'DELETE.',
    GET: 'GET.',
    HEAD: 'HEAD.',
    OPTIONS: 'OPTIONS.',
    PATCH: 'PATCH.',
    POST: 'POST.',
    PUT: 'PUT.',
  }),
})

export const OAuthAuthentication = builder.enumType('OAuthAuthentication', {
  description: 'How a client authenticates at the token URL.',
  values: describedValues({
    BASIC: 'In the Authorization header.',
    POST: 'In the request body.',
  }),
})

export const StartTls = builder.enumType('StartTls', {
  description: 'A protocol that upgrades a connection to TLS.',
  values: describedValues({
    IMAP: 'IMAP, with STARTTLS.',
    LDAP: 'LDAP, with an extended request.',
    POP3: 'POP3, with STLS.',
    SMTP: 'SMTP, with STARTTLS.',
  }),
})

export const GroupRequirement = builder.enumType('GroupRequirement', {
  description: 'How many monitors of a group must be up.',
  values: describedValues({
    ALL: 'All of them.',
    ANY: 'At least one.',
    AT_LEAST: 'At least `count`.',
  }),
})

export const DnsMatch = builder.enumType('DnsMatch', {
  description: 'EXACT: the expected records and no others, in any order. CONTAINS: at least these.',
  values: describedValues({
    CONTAINS: 'At least the expected records.',
    EXACT: 'The expected records and no others, in any order.',
  }),
})

export const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'A DNS record type.',
  values: describedValues<RecordType>({
    A: 'IPv4 addresses.',
    AAAA: 'IPv6 addresses.',
    CAA: 'Certificate authorities that may issue certificates.',
    CNAME: 'The canonical name of an alias.',
    MX: 'Mail servers.',
    NS: 'Name servers.',
    PTR: 'The name of an address.',
    SOA: 'The start of authority of a zone.',
    SRV: 'The location of a service.',
    TXT: 'Text.',
  }),
})
