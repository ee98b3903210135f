import { GraphQLError } from 'graphql'
import { builder } from './builder.ts'

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

builder.scalarType('DateTime', {
  description: 'A moment, as ISO 8601 with a time zone; always given in UTC, such as 2026-11-20T12:00:00.000Z.',
  serialize: (date) => date.toISOString(),
  parseValue: (value) => {
    const date = typeof value === 'string' && ISO_INSTANT.test(value) ? new Date(value) : null
    if (date && !Number.isNaN(date.getTime())) return date
    throw new GraphQLError('DateTime takes ISO 8601 text with a time zone, such as 2026-11-20T12:00:00Z.')
  },
})
