// A transcript follows the sound that it is of. Without this module its links open the recording at their seconds.

const audio = document.querySelector('audio[data-player]')
const list = document.querySelector('[data-transcript]')
const links = [...list?.querySelectorAll('a[data-start]') ?? []]
const starts = links.map((link) => Number(link.dataset.start))
const still = matchMedia('(prefers-reduced-motion: reduce)')
let current = -1

/** The stretch that is said at a second: the last one that has begun by then; -1 before the first. */
function stretchAt(second) {
  let low = 0
  for (let high = starts.length; low < high;) {
    const middle = (low + high) >> 1
    if (starts[middle] <= second + 0.05) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Scrolls the list alone, so that the page stays where its reader has it. */
function reveal(item) {
  const top = item.offsetTop - (list.clientHeight - item.offsetHeight) / 2
  list.scrollTo({ top, behavior: still.matches ? 'auto' : 'smooth' })
}

function follow() {
  const next = stretchAt(audio.currentTime)
  if (next === current) return
  links[current]?.removeAttribute('aria-current')
  current = next
  links[current]?.setAttribute('aria-current', 'true')
  if (links[current] && !list.contains(document.activeElement)) reveal(links[current].parentElement)
}

if (audio && links.length) {
  audio.addEventListener('timeupdate', follow)
  audio.addEventListener('seeked', follow)
  list.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-start]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
    event.preventDefault()
    audio.currentTime = Number(link.dataset.start)
    audio.play().catch(() => {}) // the player itself says what it cannot play
  })
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      links[links.indexOf(document.activeElement) + step]?.focus()
    } else if (event.key === ' ') {
      event.preventDefault()
      if (audio.paused) audio.play().catch(() => {})
      else audio.pause()
    }
  })
}
