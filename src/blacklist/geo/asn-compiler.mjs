// A worker thread on Node 20 does not take over tsx from `--import` (measured, tsx 4.23), so it asks for it by itself.
import { tsImport } from 'tsx/esm/api'

await tsImport('./asn-compiler.ts', import.meta.url)
