import { readYaml } from '../configuration/yaml-text.ts'
import { Fields, Unreadable } from './translation.ts'

/** The maximum length of YAML. It takes a hundred times as long to parse as JSON, and hand-written files are shorter. */
const MAX_YAML_LENGTH = 1_000_000

/** Parses a YAML object. @throws Unreadable. */
export function readYamlObject(text: string): Fields {
  if (text.length > MAX_YAML_LENGTH) throw new Unreadable('This YAML is larger than 1 MB.')
  const read = readYaml(text.replace(/^\uFEFF/, ''))
  if ('lines' in read) return new Fields(read.value)
  const [problem] = read
  const place = problem?.line === undefined ? 'it' : `line ${problem.line}`
  throw new Unreadable(`Cannot read this YAML: ${place} ${problem?.message ?? ''}.`)
}
