import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { isInstalled } from './installed.ts'

const CHART = 'deploy/helm'
/** Where Debian puts the sources of Go packages. */
const PACKAGES = '/usr/share/gocode'
const SOURCE = 'test/deploy/chart/render.go'

/** What is missing for rendering a chart; null: nothing. */
export const goMissing =
  isInstalled('go', 'version') && existsSync(join(PACKAGES, 'src/github.com/Masterminds/sprig'))
    ? null
    : 'golang-go and golang-github-masterminds-sprig-dev are not installed'

/** A Kubernetes object. */
export interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  // biome-ignore lint/suspicious/noExplicitAny: Each kind has other members.
  readonly spec: any
}

/** Values as for `--set`, by path. */
type Values = Readonly<Record<string, unknown>>

/**
 * Renders the chart as `helm template` does: merges values over those of the chart, validates them with its schema, and runs the
 * engine and functions that Helm uses.
 * @throws Error with the message of the schema or of a template.
 */
export function renderChart(given: Values): { readonly objects: readonly KubernetesObject[]; readonly notes: string } {
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
  for (const [path, value] of Object.entries(given)) setAt(values, path.split('.'), value)
  const ajv = new Ajv({ strict: false })
  if (!ajv.validate(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')), values)) {
    throw new Error(ajv.errorsText())
  }
  const input = { Folder: CHART, Values: values, Release: { Name: 'status', Namespace: 'web', Service: 'Helm' } }
  const output = execFileSync(renderer(), { input: JSON.stringify(input), stdio: 'pipe' }).toString()
  const { 'NOTES.txt': notes = '', ...files } = JSON.parse(output) as Record<string, string>
  const documents = Object.values(files).flatMap((text) => {
    const read = parseAllDocuments(text)
    return Array.isArray(read) ? read : []
  })
  for (const { errors } of documents) if (errors[0] !== undefined) throw errors[0]
  return { objects: documents.map((each) => each.toJS()).filter((each) => each !== null), notes }
}

function setAt(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[name] = value
  else setAt(target[name] as Record<string, unknown>, rest, value)
}

/** Builds the program unless it is built from the same source. */
function renderer(): string {
  const directory = 'node_modules/.cache/allclear'
  const file = join(directory, `render-${createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16)}`)
  if (existsSync(file)) return file
  mkdirSync(directory, { recursive: true })
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: PACKAGES, GOFLAGS: '' }
  execFileSync('go', ['build', '-o', file, SOURCE], { env, stdio: 'pipe' })
  return file
}
