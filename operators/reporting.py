"""The report of contacts of what was found or done."""

from ..rig import contact_reports, results
from ..solvers import contact_report


def of_detection(armature, legs, found, weights, origins):
    """The function that makes the Report of a Detection, without Blender: no slide after. weights (frames, legs): what
    the contact curves say now; origins: of each leg's."""
    return _report(armature, legs, found, found.clip, weights, origins)


def of_removal(armature, legs, done, found, origins):
    """The function that makes the Report of a Removal, without Blender. found: the Detection of the clip as it was."""
    return _report(armature, legs, found, done.clip, done.weights, origins, done.corrected, done.out_of_reach)


def store(scene, armature, clip, report, settings, motions=None):
    """Keep a Report with the action. settings: those of the detection; motions: what is known of its curves, as
    ``curves.motions`` has it."""
    contact_reports.store(scene, armature, clip, report, settings.as_text(), motions)


def _report(armature, legs, found, clip, weights, origins, corrected=None, out_of_reach=None):
    names = armature.name, results.subject(armature).name, [leg.label for leg in legs.legs]

    def report():
        motion = contact_report.Motion(
            clip.leg_pose().toe,
            weights,
            clip.frame_rate,
            found.labels,
            found.speed,
            found.height,
            found.enter,
            found.highest,
            origins,
            None if corrected is None else corrected.leg_pose().toe,
            out_of_reach,
        )
        return contact_report.of_motion(*names, clip.scene_frames, motion)

    return report
