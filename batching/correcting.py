"""One clip: its contacts, the fit of its root, and its correction."""

import bpy
import numpy as np

from ..operators import detect_contacts, fit_root, remove_sliding, reporting, reports
from ..rig import clip, contact_property, controls, correction, labels, markers, results
from ..rig.contact_property import PROTECTED, State
from ..solvers.errors import FootlockError
from . import command_line, settings


def correct(shot, given, options):
    """Scale, label, fit and correct a Shot; returns the Removal, the Report of its contacts, and what is said
    besides."""
    scene, armature, legs = shot.scene, shot.armature, shot.legs
    bpy.context.view_layer.update()
    driven_by = controls.of(armature, legs)
    correction.check(armature, legs, driven_by)
    result = command_line.RESULTS[options.result]
    results.check(armature, correction.keyed(armature, legs, driven_by, options.stretch > 0.0), result)
    if armature.animation_data.action.library is not None:
        results.begin(armature, result)  # for the contact curves, which else are of the original, too
    if options.root_scale != 1.0:
        correction.scale_travel(armature, clip.read(scene, armature, legs, options.unit), options.root_scale)
    source = clip.read(scene, armature, legs, options.unit)
    found, said = _contacts(scene, armature, legs, source, given, options)
    results.begin(armature, result)
    if options.fit_root and found.any():
        said["root_fit"] = reports.fitted(fit_root.fit(scene, armature, legs, source.unit, found))
    # Curves may say more than planted or not.
    weights = contact_property.weights(armature, legs, source.frames)
    weights = found if weights is None else weights
    extent = settings.extent(scene, options)
    origins = contact_property.origins(armature, legs)
    done = remove_sliding.remove(scene, armature, legs, settings.removal(options), source.unit, weights, extent)
    detection = settings.detection(options)
    judged = detect_contacts.judge(done.clip, detection)
    report = reporting.of_removal(armature, legs, done, judged, origins)()
    reporting.store(scene, armature, done.clip, report, detection)
    if options.markers:
        markers.write(results.labelled(armature), legs, done.clip.frames, found)
    return done, report, said


def _contacts(scene, armature, legs, source, given, options):
    """Labels (frames, legs) of a clip, written as its curves, and what is said of them. From the file that is given,
    else the curves that are there, else found; curves that are locked or muted are never replaced."""
    if given:
        found = labels.read(given, legs, len(source.frames))
        kept = [i for i, state in enumerate(contact_property.states(armature, legs)) if state in PROTECTED]
        if len(kept) == len(legs.legs):
            raise FootlockError(
                "All contact curves of “{armature}” are locked or muted, and --contacts would not be used:"
                " leave it out, or unlock and unmute them.",
                armature=armature.name,
            )
        contact_property.write(armature, legs, source.frames, found, skip=kept, of_file=True)
        return contact_property.read(armature, legs, source.frames), {"contacts_from": "file"}
    states = contact_property.states(armature, legs)
    kept = [i for i, state in enumerate(states) if state is not State.ABSENT]
    if options.replace_contacts:
        kept = [i for i in kept if states[i] in PROTECTED]
    elif kept:
        kept = list(range(len(states)))
    if len(kept) == len(states):
        found = contact_property.read(armature, legs, source.frames)
        none = np.zeros((len(source.frames), len(states)), bool)
        return none if found is None else found, {"contacts_from": "curves"}
    detected = detect_contacts.detect(scene, armature, legs, settings.detection(options), source.unit)
    if detected.mode == "threshold" and not detected.labels.any():
        raise FootlockError("No contact was found: raise the thresholds, or use --detect auto.")
    if options.speed_and_height:
        contact_property.check_judged(armature, legs)
    contact_property.write(armature, legs, source.frames, detected.labels, detected=True, skip=kept)
    if options.speed_and_height:
        contact_property.write_judged(armature, legs, source.frames, detected.speed, detected.height)
    return contact_property.read(armature, legs, source.frames), reports.detected(detected)
