import { readYaml } from '../configuration/yaml-text.ts'
import { isJsonObject } from '../core/json-object.ts'
import { Fields } from './fields.ts'
import { Unreadable } from './translation.ts'

/** The maximum length of YAML. It takes a hundred times as long to parse as JSON, and hand-written files are shorter. */
export const MAX_YAML_LENGTH = 1_000_000

/** Parses a YAML object, with merge keys (`<<: *defaults`), which other tools document. @throws Unreadable. */
export function readYamlObject(text: string): Fields {
  return new Fields(readYamlValue(text))
}

/** Parses YAML with merge keys. What aliases share is copied. @throws Unreadable. */
export function readYamlValue(text: string): unknown {
  if (text.length > MAX_YAML_LENGTH) throw new Unreadable('This YAML is larger than 1 MB.')
  const read = readYaml(text.replace(/^\uFEFF/, ''), { merges: true })
  // Copies what aliases share, because what is read of one use says nothing of the others. The parser bounds the size.
  if ('lines' in read) return copied(read.value)
  const [problem] = read
  const place = problem?.line === undefined ? 'it' : `line ${problem.line}`
  throw new Unreadable(`Cannot read this YAML: ${place} ${problem?.message ?? ''}.`)
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copied(field)]))
}
