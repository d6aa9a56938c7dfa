"""The report of contacts of what was found or done."""

from ..rig import contact_reports, results
from ..solvers import contact_report


def of_detection(armature, legs, found, weights, origins):
    """The Report of a Detection: no slide after. weights (frames, legs): what the contact curves say now; origins: of
    each leg's."""
    return _report(armature, legs, found, found.clip, weights, origins)


def of_removal(armature, legs, done, found, origins):
    """The Report of a Removal. found: the Detection of the clip as it was."""
    after = done.corrected.leg_pose().toe
    return _report(armature, legs, found, done.clip, done.weights, origins, after, done.out_of_reach)


def store(scene, armature, clip, report, settings):
    """Keep a Report with the action. settings: those of the detection."""
    contact_reports.store(scene, armature, clip, report, settings.as_text())


def _report(armature, legs, found, clip, weights, origins, after=None, out_of_reach=None):
    return contact_report.of_motion(
        armature.name,
        results.subject(armature).name,
        [leg.label for leg in legs.legs],
        clip.scene_frames,
        contact_report.Motion(
            clip.leg_pose().toe,
            weights,
            clip.frame_rate,
            found.labels,
            found.speed,
            found.height,
            found.enter,
            found.highest,
            origins,
            after,
            out_of_reach,
        ),
    )
