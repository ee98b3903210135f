import { readYaml } from '../configuration/yaml-text.ts'
import { Fields, Unreadable } from './translation.ts'

/** YAML takes a hundred times as long to read as JSON, and people write no more of it. */
const MAX_YAML_LENGTH = 1_000_000

/** Reads YAML that is an object. @throws Unreadable. */
export function readYamlObject(text: string): Fields {
  if (text.length > MAX_YAML_LENGTH) throw new Unreadable('This YAML has more than 1 MB.')
  const read = readYaml(text.replace(/^\uFEFF/, ''))
  if ('lines' in read) return new Fields(read.value)
  const [problem] = read
  throw new Unreadable(`This YAML cannot be read: ${problem?.message ?? ''} (line ${problem?.line ?? '?'})`)
}
