import { Select } from '@mantine/core'
import { useSkills } from './skills.ts'

/** Chooses a skill, whose example then fills the data. */
export function SkillSelect({ data, fill }: { data: string; fill: (data: string) => void }) {
  const skills = useSkills()
  return (
    <Select
      label="Skill"
      placeholder="Choose a skill to begin with its example"
      searchable
      allowDeselect={false}
      value={skillIn(data)}
      data={skills.data?.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })) ?? []}
      onChange={(id) => {
        const skill = skills.data?.find((one) => one.id === id)
        if (skill) fill(JSON.stringify(skill.example, null, 2))
      }}
    />
  )
}

/** The skill that the data names, as far as it is JSON already. */
function skillIn(data: string): string | null {
  try {
    const { skill } = JSON.parse(data) as { skill?: unknown }
    return typeof skill === 'string' ? skill : null
  } catch {
    return null
  }
}
