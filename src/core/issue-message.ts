import type { z } from 'zod'
import { ownValue } from './own-value.ts'

/** Returns our message for an invalid value; undefined: use the schema's own message. */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${ownValue(typeNames, issue.expected) ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${sizeOf(issue.origin)}${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `must ${sizeOf(issue.origin)}${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `must not contain ${issue.keys.join(', ')}`
    case 'invalid_format':
      return ownValue(formats, issue.format) ?? 'has an invalid format'
    default:
      return 'is not valid'
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
  null: 'null',
}

const formats: Readonly<Record<string, string>> = {
  email: 'must be an email address',
  url: 'must be a URL',
  datetime: 'must be a date and time such as 2026-11-20T12:00:00Z',
  date: 'must be a date such as 2026-11-20',
}

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' items', set: ' items' }

/** The verb of a size limit: lists and strings have a size, numbers are compared themselves. */
const sizeOf = (origin: string) => (ownValue(units, origin) === undefined ? 'be ' : 'have ')

const unitOf = (origin: string) => ownValue(units, origin) ?? ''
