import { z } from 'zod'
import { addressKeys, kindByKey } from '../alerting/channel-address.ts'
import { senders } from '../alerting/senders.ts'
import { wordsOf } from '../core/described.ts'
import { isJsonObject } from '../core/json-object.ts'
import { secretsOf } from '../monitoring/monitor/option-list.ts'
import { optionKeys } from '../monitoring/monitor/options.ts'
import { kindRules } from '../monitoring/monitor/probe-kinds.ts'
import { fileShape } from './format.ts'

/** The path at which the service serves the schema. */
export const SCHEMA_PATH = '/schema/configuration.json'

type Schema = Record<string, unknown>

/**
 * Returns the JSON Schema of a file for editors, derived from the schemas that parse the file. It is looser than those: any text
 * may contain `${NAME}`, and a secret may be null.
 */
export function configurationSchema(): Schema {
  const schema = toSchema(fileShape)
  for (const [key, kind] of Object.entries(optionKeys)) {
    // A file refers to the monitors of a group by key, unlike the options.
    if (kind === 'GROUP') continue
    const secrets = new Set(secretsOf(kind).map((path) => path.at(-1) ?? ''))
    setProperty(schema, 'monitors', key, wider(toSchema(kindRules[kind].options), secrets))
  }
  for (const key of addressKeys) {
    setProperty(schema, 'channels', key, orNull(wider(toSchema(senders[kindByKey[key]].address))))
  }
  for (const [section, description] of Object.entries(sectionTexts))
    Object.assign(sectionOf(schema, section), { description })
  return { ...schema, title: 'Allclear configuration', description: 'See /docs/configuration.' }
}

const sectionTexts = {
  moved: 'Renamed keys.',
  groups: 'Service groups by key.',
  services: 'Services by key, in the order of the pages.',
  monitors: 'Monitors by key, each with one kind of options, such as http.',
  pages: 'Status pages by key.',
  channels: 'Alert channels by key, each with one address, such as mail.',
  templates: 'Templates for incidents, updates and maintenance, by key.',
  objectives: 'The target availability of services, by key.',
}

/** Returns the JSON Schema of what a schema takes, with the descriptions of its members. */
const toSchema = (type: z.ZodType): Schema => {
  const { $schema, ...schema } = z.toJSONSchema(type, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const words = wordsOf(zodSchema as z.core.$ZodType)
      if (words !== undefined) jsonSchema.description = words.description
    },
  }) as Schema
  return type === fileShape ? { $schema, ...schema } : schema
}

/** Rules for texts that `${NAME}` may break. */
const textRules = new Set(['pattern', 'format', 'minLength', 'maxLength'])

/**
 * Returns a schema that accepts any text where a text is expected, and null where a secret is, as exports write it.
 * @param secrets the names of secrets.
 */
function wider(schema: Schema, secrets: ReadonlySet<string> = new Set()): Schema {
  const { properties, ...rest } = schema
  const own = Object.fromEntries(
    Object.entries(rest).flatMap(([name, part]) => (textRules.has(name) ? [] : [[name, widerPart(part, secrets)]])),
  )
  if (!isSchema(properties)) return own
  const fields = Object.entries(properties).map(([name, part]) => {
    const field = isSchema(part) ? wider(part, secrets) : part
    return [name, secrets.has(name) && isSchema(field) ? orNull(field) : field]
  })
  return { ...own, properties: Object.fromEntries(fields) }
}

function widerPart(part: unknown, secrets: ReadonlySet<string>): unknown {
  if (Array.isArray(part)) return part.map((each) => widerPart(each, secrets))
  return isSchema(part) ? wider(part, secrets) : part
}

const isSchema = (value: unknown): value is Schema => isJsonObject(value)

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

function sectionOf(schema: Schema, section: string): Schema {
  const { properties } = schema
  const found = isSchema(properties) ? properties[section] : undefined
  if (!isSchema(found)) throw new Error(`The schema has no section ${section}.`)
  return found
}

/** Replaces the schema of a field in the objects of a section. */
function setProperty(schema: Schema, section: string, field: string, to: Schema): void {
  const found = sectionOf(schema, section)
  const all = Array.isArray(found['anyOf']) ? found['anyOf'] : [found]
  for (const each of all) {
    const objects = isSchema(each) ? each['additionalProperties'] : undefined
    if (isSchema(objects) && isSchema(objects['properties'])) objects['properties'][field] = to
  }
}
