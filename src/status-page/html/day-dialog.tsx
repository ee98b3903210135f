import type { Catalogue } from '../../language/catalogue.ts'
import { Part } from './parts.tsx'

/** Renders the dialog in which the script shows a day over the page. */
export function DayDialog({ words: { day: words } }: { readonly words: Catalogue }) {
  return (
    <Part>
      <dialog id="day-details" aria-labelledby="day-service day-title" data-keep>
        <button type="button" data-close>
          {words.close}
        </button>
        <div></div>
        <p>
          <a class="whole" href="#main">
            {words.whole}
          </a>
        </p>
      </dialog>
    </Part>
  )
}
