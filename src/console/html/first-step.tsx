import type { Child } from 'hono/jsx'
import type { Screen } from './frame/screen.tsx'

/** Says on an empty screen what to do first, with the button that does it. */
export function FirstStep({
  screen,
  path,
  text,
  children,
}: {
  readonly screen: Screen
  /** Where the button leads. */
  readonly path: string
  /** On the button, which only those see who may change things. */
  readonly text: string
  readonly children: Child
}) {
  return (
    <section>
      <p class="lead">{children}</p>
      {screen.may('WRITE') ? (
        <p class="actions">
          <a class="button" href={screen.path(path)}>
            {text}
          </a>
        </p>
      ) : null}
    </section>
  )
}
