import { UnstyledButton, VisuallyHidden } from '@mantine/core'
import { CheckIcon } from '../../../parts/icons.tsx'
import { plural } from '../../../parts/texts.tsx'
import { type Fault, type StepName, stepLabels, stepNames } from './faults.ts'
import classes from './stepper.module.css'

/** The steps of the editor. Each can be opened at any time, and says how many faults it has. */
export function Stepper({ open, go, faults }: { open: StepName; go: (step: StepName) => void; faults: Fault[] }) {
  return (
    <nav aria-label="Steps">
      <ol className={classes.steps}>
        {stepNames.map((name, index) => {
          const count = name === 'review' ? 0 : faults.filter(({ step }) => step === name).length
          const passed = index < stepNames.indexOf(open)
          return (
            <li key={name}>
              <UnstyledButton
                className={classes.step}
                aria-current={name === open ? 'step' : undefined}
                data-faults={count}
                onClick={() => go(name)}
              >
                <span className={classes.mark} aria-hidden>
                  {count > 0 ? '!' : passed ? <CheckIcon /> : index + 1}
                </span>
                <span className={classes.name}>
                  {stepLabels[name]}
                  {count > 0 && <VisuallyHidden>, {plural(count, 'fault')}</VisuallyHidden>}
                </span>
              </UnstyledButton>
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
