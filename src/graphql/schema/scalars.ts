import { GraphQLError } from 'graphql'
import { MAX_TIME } from '../../core/list-filter.ts'
import { builder } from './builder.ts'

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** The year 1: PostgreSQL reads no year 0, and none of more than four digits as ISO 8601 writes them. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z')

builder.scalarType('DateTime', {
  description:
    'A date and time in ISO 8601 with a time zone, in the years 1 to 9999. Always returned in UTC, such as 2026-11-20T12:00:00.000Z.',
  serialize: (date) => date.toISOString(),
  parseValue: (value) => {
    const date = typeof value === 'string' && ISO_INSTANT.test(value) ? new Date(value) : null
    if (date && date.getTime() >= EARLIEST && date.getTime() <= MAX_TIME) return date
    throw new GraphQLError('DateTime must be an ISO 8601 string with a time zone, such as 2026-11-20T12:00:00Z.')
  },
})

builder.scalarType('JsonValue', {
  description: 'A string, a number or a boolean.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    throw new GraphQLError('JsonValue must be a string, a number or a boolean.')
  },
})

builder.scalarType('StatusRange', {
  description:
    'HTTP status codes: one code, such as 200 or "200"; a class, such as "2xx"; or a range, such as "200-299".',
  serialize: (range) => range,
  parseValue: (value) => {
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    throw new GraphQLError('StatusRange must be a status code or a string such as 2xx or 200-299.')
  },
})
