import { z } from 'zod'
import { addressKeys, kindByKey } from '../alerting/channel-address.ts'
import { senders } from '../alerting/senders.ts'
import { optionKeys } from '../monitoring/options.ts'
import { kindRules } from '../monitoring/probe-kinds.ts'
import { fileShape } from './format.ts'

/** Where the service serves the schema. */
export const SCHEMA_PATH = '/schema/configuration.json'

type Schema = Record<string, unknown>

/**
 * Returns the JSON Schema of a file, for editors, made of what reads the file. It is wider where only the service knows: `${NAME}`
 * may stand in any text, and a secret may be null.
 */
export function configurationSchema(): Schema {
  const schema = toSchema(fileShape)
  for (const [key, kind] of Object.entries(optionKeys)) {
    setMember(schema, 'monitors', key, wider(toSchema(kindRules[kind].options)))
  }
  for (const key of addressKeys) {
    setMember(schema, 'channels', key, orNull(wider(toSchema(senders[kindByKey[key]].address))))
  }
  for (const [section, description] of Object.entries(sectionTexts))
    Object.assign(sectionOf(schema, section), { description })
  return { ...schema, title: 'Allclear configuration', description: 'See /docs/configuration.' }
}

const sectionTexts = {
  moved: 'Keys that replace others, which are the same object.',
  groups: 'Service groups by key.',
  services: 'Services by key, in the order of the pages.',
  monitors: 'Monitors by key, each with one kind of options, such as http.',
  pages: 'Status pages by key.',
  channels: 'Alert channels by key, each with one address, such as mail.',
  templates: 'Prepared words for incidents, updates and maintenance, by key.',
  objectives: 'How much of the time services are to be available, by key.',
}

const toSchema = (type: z.ZodType): Schema => {
  const { $schema, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema
  return type === fileShape ? { $schema, ...schema } : schema
}

/** Members whose values are secrets, which exports write as null. */
const secrets = new Set(['value', 'body', 'send'])

/** What texts are checked for, which `${NAME}` need not be. */
const textRules = new Set(['pattern', 'format', 'minLength', 'maxLength'])

/** Returns a schema that lets any text stand where a text is expected, and null where a secret is. */
function wider(schema: Schema): Schema {
  const { properties, ...rest } = schema
  const own = Object.fromEntries(
    Object.entries(rest).flatMap(([name, part]) => (textRules.has(name) ? [] : [[name, widerPart(part)]])),
  )
  if (!isSchema(properties)) return own
  const members = Object.entries(properties).map(([name, part]) => {
    const member = isSchema(part) ? wider(part) : part
    return [name, secrets.has(name) && isSchema(member) ? orNull(member) : member]
  })
  return { ...own, properties: Object.fromEntries(members) }
}

function widerPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(widerPart)
  return isSchema(part) ? wider(part) : part
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

function sectionOf(schema: Schema, section: string): Schema {
  const { properties } = schema
  const found = isSchema(properties) ? properties[section] : undefined
  if (!isSchema(found)) throw new Error(`The schema has no section ${section}.`)
  return found
}

/** Replaces the schema of a member of the objects of a section. */
function setMember(schema: Schema, section: string, member: string, to: Schema): void {
  const found = sectionOf(schema, section)
  const all = Array.isArray(found['anyOf']) ? found['anyOf'] : [found]
  for (const each of all) {
    const objects = isSchema(each) ? each['additionalProperties'] : undefined
    if (isSchema(objects) && isSchema(objects['properties'])) objects['properties'][member] = to
  }
}
