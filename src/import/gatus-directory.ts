import { readdir, readFile, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { writeYaml } from '../configuration/yaml-text.ts'
import { isJsonObject } from '../core/json-object.ts'
import { Unreadable } from './translation.ts'
import { MAX_YAML_LENGTH, readYamlValue } from './yaml-object.ts'

/** A file of a configuration directory. */
interface ConfigurationFile {
  /** The path in the directory, for messages. */
  readonly name: string
  readonly text: string
}

/** The maximum number of files of a configuration, and of their bytes: a character has up to four. */
const MAX_FILES = 1000
const MAX_BYTES = 4 * MAX_YAML_LENGTH

/**
 * Reads a configuration directory of Gatus (`GATUS_CONFIG_PATH`): all files in it and in its subdirectories that end in
 * `.yaml` or `.yml`, merged into one. As Gatus does, leaves out folders whose names begin with two dots, in which Kubernetes
 * keeps the versions of a mounted ConfigMap.
 * @throws Unreadable.
 */
export async function readGatusDirectory(directory: string): Promise<string> {
  const found = (await readdir(directory, { recursive: true })).filter(isConfiguration).toSorted()
  if (found.length === 0) throw new Unreadable('This directory has no files that end in .yaml or .yml.')
  if (found.length > MAX_FILES) throw new Unreadable(`This directory has more than ${MAX_FILES} files.`)
  const files: ConfigurationFile[] = []
  let size = 0
  for (const name of found) {
    size += (await stat(join(directory, name))).size
    if (size > MAX_BYTES) throw new Unreadable(`These files are larger than ${MAX_BYTES / 1e6} MB.`)
    files.push({ name, text: await readFile(join(directory, name), 'utf8') })
  }
  return mergeGatusFiles(files)
}

/** Returns whether a path in the directory is a part of the configuration. */
function isConfiguration(path: string): boolean {
  return /\.ya?ml$/.test(path) && !path.split(sep).some((name) => name.startsWith('..'))
}

/**
 * Merges files by the rules of Gatus: objects deeply, lists one after the other. A single value may stand in one file only, so
 * that it does not depend on the order of the files.
 * @throws Unreadable.
 */
export function mergeGatusFiles(files: readonly ConfigurationFile[]): string {
  let merged: unknown = {}
  for (const { name, text } of files) {
    if (text.trim() === '') continue
    merged = mergedWith(
      merged,
      namingFile(name, () => readYamlValue(text)),
      { file: name, path: [] },
    )
  }
  return writeYaml({ comment: '', value: merged })
}

/** The place of a value in a file. */
interface Place {
  readonly file: string
  readonly path: readonly string[]
}

function mergedWith(value: unknown, added: unknown, { file, path }: Place): unknown {
  if (value === undefined || value === null) return added
  if (added === undefined || added === null) return value
  if (Array.isArray(value) && Array.isArray(added)) return [...value, ...added]
  if (!isJsonObject(value) || !isJsonObject(added))
    throw new Unreadable(`${file}: ${path.join('.') || 'it'} is set in another file too; Gatus accepts it in one only.`)
  const merged = new Map<string, unknown>(Object.entries(value))
  for (const [key, field] of Object.entries(added))
    merged.set(key, mergedWith(merged.get(key), field, { file, path: [...path, key] }))
  return Object.fromEntries(merged)
}

function namingFile<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(`${name}: ${error.message}`) : error
  }
}
