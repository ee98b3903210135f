import { createContext, useContext } from 'hono/jsx'

/**
 * Makes hono/jsx render without an `AsyncLocalStorage`, which passes its contexts to asynchronous components; we have
 * neither. Once one has run, Node.js 20 and 22 track every promise of the process: an `await` takes 0.15 µs instead of
 * 0.06 (Node.js 24 tracks none). Call it before anything is rendered: Hono looks up the class once.
 */
export function renderSynchronously(): void {
  const { getBuiltinModule } = process
  process.getBuiltinModule = (() => undefined) as unknown as typeof getBuiltinModule
  try {
    useContext(createContext(null))
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}
