import { builder } from '../../graphql/builder.ts'
import { queryTypes } from '../../network/dns/message.ts'

/** The methods of requests. */
export const HttpMethod = builder.enumType('HttpMethod', {
  values: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const,
})

/** How records are compared. */
export const DnsMatch = builder.enumType('DnsMatch', {
  description: 'EXACT: the expected records and no others, in any order. CONTAINS: at least these.',
  values: ['EXACT', 'CONTAINS'] as const,
})

/** The record types that can be asked for. */
export const DnsRecordType = builder.enumType('DnsRecordType', { values: queryTypes })
